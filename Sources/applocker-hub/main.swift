print("applocker-hub: being written")
